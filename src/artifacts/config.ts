/**
 * Returns the environment variables of a build of an artifact: the paths of programs, temporary files, proxies and
 * npm's settings. A list of allowed variables, so that no token gets into the build.
 */
export function buildEnvironment(): Readonly<Record<string, string>> {
  const passedOn =
    /^(PATH|HOME|USER|LANG|LC_ALL|TMPDIR|SSL_CERT_FILE|SSL_CERT_DIR|NODE_EXTRA_CA_CERTS|(https?|no)_proxy|npm_config_\w+)$/i;
  const own = Object.entries(process.env).flatMap(([name, value]) =>
    value !== undefined && passedOn.test(name) ? [[name, value] as const] : [],
  );
  return { ...Object.fromEntries(own), CI: "1" };
}
