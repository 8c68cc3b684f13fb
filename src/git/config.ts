/** The environment variables that a Git process gets: paths of programs, keys, proxies. */
const passedOn = [
  "PATH",
  "HOME",
  "USER",
  "TMPDIR",
  "SSH_AUTH_SOCK",
  "HTTP_PROXY",
  "HTTPS_PROXY",
  "NO_PROXY",
  "http_proxy",
  "https_proxy",
  "no_proxy",
  "SSL_CERT_FILE",
  "SSL_CERT_DIR",
] as const;

/** Which proxies Git will go through: those of `passedOn`. */
export const ownEnvironment: Readonly<NodeJS.ProcessEnv> = process.env;

/**
 * The whole environment of a Git process.
 *
 * Built up, not stripped down: `GIT_DIR`, `GIT_INDEX_FILE` and their like, which a
 * hook or an alias sets for its children, would send us to another repository.
 * `configFile` stands in for the user's and the machine's configuration.
 */
export function gitEnvironment(configFile: string): NodeJS.ProcessEnv {
  const own = Object.fromEntries(
    passedOn.flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
  return {
    ...own,
    // Messages are read by us, in English.
    LC_ALL: "C.UTF-8",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: configFile,
    GIT_TERMINAL_PROMPT: "0",
    GIT_ASKPASS: "",
    SSH_ASKPASS: "",
    GIT_SSH_COMMAND: "ssh -o BatchMode=yes -o ConnectTimeout=15",
    GIT_ALLOW_PROTOCOL: "file:git:http:https:ssh",
    GIT_OPTIONAL_LOCKS: "0",
    // A replaced object would have another content than its id says.
    GIT_NO_REPLACE_OBJECTS: "1",
    // Nothing is fetched behind our back by a partial clone.
    GIT_NO_LAZY_FETCH: "1",
  };
}
