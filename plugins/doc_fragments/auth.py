# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Document the options of module_utils/module/auth_spec.py for every module that connects to a cluster."""

from __future__ import annotations


class ModuleDocFragment:
    """Options for the API server's address and the credentials."""

    DOCUMENTATION = r"""
options:
  host:
    description:
      - Address of the API server, for example V(https://api.example.com:6443). An IPv6 address is written in brackets.
      - Without a scheme, V(https://) is assumed.
      - Together with O(api_key), with O(username) and O(password), or with O(client_cert), no kubeconfig is read.
        With none of them it replaces the address of the kubeconfig.
      - If the value is not specified in the task, the value of the environment variable E(K8S_AUTH_HOST) is used.
    type: str
  api_key:
    description:
      - Bearer token, with or without the word C(Bearer) in front.
      - Without O(host), it is sent to the server that the kubeconfig names, in place of the kubeconfig's user.
      - If the value is not specified in the task, the value of the environment variable E(K8S_AUTH_API_KEY) is used.
    type: str
  kubeconfig:
    description:
      - Path of a kubeconfig, several paths joined with a colon, or the content of a kubeconfig as a dictionary.
      - A path is looked for where Ansible looks for files, such as in C(files) beside the playbook, and a file that is
        encrypted with Ansible Vault is decrypted. If the module runs on another host, a file that exists there is used,
        and one that exists only on the controller is copied.
      - Several files are merged as C(kubectl) does it. The first definition of a name wins, and missing files are
        ignored as long as one exists.
      - Without it and without O(host) and a credential, the file or files named by the environment variable
        E(KUBECONFIG) are used, then the service account of the pod that the module runs in, then
        C(~/.kube/config).
      - If the value is not specified in the task, the value of the environment variable E(K8S_AUTH_KUBECONFIG) is
        used.
    type: raw
  context:
    description:
      - Context of the kubeconfig. The default is its current context.
      - If the value is not specified in the task, the value of the environment variable E(K8S_AUTH_CONTEXT) is used.
    type: str
  username:
    description:
      - User name for HTTP basic authentication, as used by some authenticating proxies. Today's API servers do not
        support it.
      - If the value is not specified in the task, the value of the environment variable E(K8S_AUTH_USERNAME) is used.
    type: str
  password:
    description:
      - Password that goes with O(username).
      - If the value is not specified in the task, the value of the environment variable E(K8S_AUTH_PASSWORD) is used.
    type: str
  client_cert:
    description:
      - Path of a client certificate in PEM form.
      - If the value is not specified in the task, the value of the environment variable E(K8S_AUTH_CLIENT_CERT), or
        else E(K8S_AUTH_CERT_FILE), is used.
    type: path
    aliases: [cert_file]
  client_key:
    description:
      - Path of the key that belongs to O(client_cert), in PEM form and not encrypted. It may be left out if the file
        of O(client_cert) holds the key too.
      - If the value is not specified in the task, the value of the environment variable E(K8S_AUTH_CLIENT_KEY), or
        else E(K8S_AUTH_KEY_FILE), is used.
    type: path
    aliases: [key_file]
  ca_cert:
    description:
      - Path of the CA certificate that the API server's certificate is verified with, in PEM form. The default is
        what the kubeconfig names, else the CAs that the system trusts.
      - If the value is not specified in the task, the value of the environment variable E(K8S_AUTH_CA_CERT), or else
        E(K8S_AUTH_SSL_CA_CERT), is used.
    type: path
    aliases: [ssl_ca_cert]
  validate_certs:
    description:
      - Whether the API server's certificate is verified. The default is what the kubeconfig says, else V(true).
      - If the value is not specified in the task, the value of the environment variable E(K8S_AUTH_VALIDATE_CERTS),
        or else E(K8S_AUTH_VERIFY_SSL), is used. There, V(0), V(false) and V(no) in any case mean V(false), everything
        else V(true).
    type: bool
    aliases: [verify_ssl]
  proxy:
    description:
      - URL of the proxy that leads to the API server, for example V(http://proxy.example.com:3128).
      - The default is C(proxy-url) of the kubeconfig, then the environment variables E(HTTPS_PROXY) (or E(HTTP_PROXY)
        if the server's address begins with V(http://)) and E(ALL_PROXY). Proxies of the environment are not used for
        an API server on the same machine.
      - A C(socks5://) proxy needs the Python library C(PySocks).
      - If the value is not specified in the task, the value of the environment variable E(K8S_AUTH_PROXY) is used.
    type: str
  no_proxy:
    description:
      - Comma-separated list of what is reached without a proxy. Each entry is a host name (which includes its
        subdomains), a suffix such as V(.example.com), an address, a range of addresses such as V(10.0.0.0/8), or V(*).
        All but the range may have a port.
      - The default for proxies of the environment is the environment variable E(NO_PROXY).
      - If the value is not specified in the task, the value of the environment variable E(K8S_AUTH_NO_PROXY) is used.
    type: str
  proxy_headers:
    description:
      - Headers for the proxy.
    type: dict
    suboptions:
      proxy_basic_auth:
        description:
          - User name and password for the proxy, with a colon between them.
          - If O(proxy_headers) is not specified in the task, the value of the environment variable
            E(K8S_AUTH_PROXY_HEADERS_PROXY_BASIC_AUTH) is used.
        type: str
      basic_auth:
        description:
          - User name and password for the header C(Authorization) at the proxy, with a colon between them.
          - If O(proxy_headers) is not specified in the task, the value of the environment variable
            E(K8S_AUTH_PROXY_HEADERS_BASIC_AUTH) is used.
        type: str
      user_agent:
        description:
          - Value of the header C(User-Agent) at the proxy.
          - If O(proxy_headers) is not specified in the task, the value of the environment variable
            E(K8S_AUTH_PROXY_HEADERS_USER_AGENT) is used.
        type: str
  persist_config:
    description:
      - Whether renewed tokens are written back to the kubeconfig. This matters for users with an C(auth-provider),
        whose refresh token may be valid only once.
      - If the value is not specified in the task, the value of the environment variable E(K8S_AUTH_PERSIST_CONFIG) is
        used.
    type: bool
  impersonate_user:
    description:
      - User to act as. The caller needs the right to impersonate.
      - If the value is not specified in the task, the value of the environment variable E(K8S_AUTH_IMPERSONATE_USER)
        is used.
    type: str
  impersonate_groups:
    description:
      - Groups to act as. Needs O(impersonate_user).
      - If the value is not specified in the task, the value of the environment variable E(K8S_AUTH_IMPERSONATE_GROUPS)
        is used, a comma-separated list.
    type: list
    elements: str
requirements:
  - kubernetes >= 24.2.0 (Python library, on the host the module runs on)
notes:
  - Options take precedence over environment variables, and both over what a kubeconfig says.
  - The environment variables are read where the module runs. C(environment) of a play or task sets them there.
"""
