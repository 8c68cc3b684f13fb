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

/** The proxies that Git will use: those of `passedOn`. */
export const ownEnvironment: Readonly<NodeJS.ProcessEnv> = process.env;

/**
 * The whole environment of a Git process.
 *
 * It is built from an allow-list. `GIT_DIR`, `GIT_INDEX_FILE` and similar variables, which a hook or an alias sets for
 * its children, would select another repository. `configFile` replaces the user's and the machine's configuration.
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
    // This code parses messages, so they must be in English.
    LC_ALL: "C.UTF-8",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: configFile,
    GIT_TERMINAL_PROMPT: "0",
    GIT_ASKPASS: "",
    SSH_ASKPASS: "",
    GIT_SSH_COMMAND: "ssh -o BatchMode=yes -o ConnectTimeout=15",
    GIT_ALLOW_PROTOCOL: "file:git:http:https:ssh",
    GIT_OPTIONAL_LOCKS: "0",
    // A replaced object would have other content than its id states.
    GIT_NO_REPLACE_OBJECTS: "1",
    // A partial clone must not fetch objects implicitly.
    GIT_NO_LAZY_FETCH: "1",
  };
}
