/** Files of certificates, which a job sees where the user sees them: it has this machine's /etc and /usr. */
const certificateFiles = ["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "PIP_CERT", "REQUESTS_CA_BUNDLE"];

const proxies = ["http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"];

/**
 * Returns the variables without which programs on this machine do not reach the network: a company's authorities
 * and its proxy. A job has no variables that its definition does not name. An address with a password is left out.
 */
export function networkVariables(
  environment: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const isVisible = (path: string) => /^\/(etc|usr)\//.test(path);
  const pairs = [
    ...certificateFiles
      .map((name) => [name, environment[name] ?? ""] as const)
      .filter(([, path]) => isVisible(path)),
    ...proxies
      .map((name) => [name, environment[name] ?? ""] as const)
      .filter(([, address]) => address !== "" && !address.includes("@")),
  ];
  return Object.fromEntries(pairs);
}
