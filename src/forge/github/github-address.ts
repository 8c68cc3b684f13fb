/** The allowed names of owners and repositories at GitHub. Other names are not repositories there. */
const owner = "[a-z0-9](?:[a-z0-9-]{0,38})";
const repository = "[a-z0-9._-]{1,100}?";
const place = `${owner}/${repository}`;

const forms: readonly RegExp[] = [
  // Credentials do not change the place, but a second @ is refused, because parsers then disagree about the beginning
  // of the host.
  new RegExp(
    `^https?://(?:[^/@\\s\\\\]*@)?([a-z0-9.-]+(?::\\d{1,5})?)/(${place})(?:\\.git)?/*$`,
    "i",
  ),
  new RegExp(`^ssh://(?:git@)?([a-z0-9.-]+)(?::22)?/(${place})(?:\\.git)?/*$`, "i"),
  new RegExp(`^git@([a-z0-9.-]+):/?(${place})(?:\\.git)?/*$`, "i"),
];

/**
 * Returns a function that returns the same text for all addresses of one repository at GitHub, and different ones for
 * different repositories; undefined for other addresses.
 *
 * At GitHub, addresses by HTTPS and SSH, with and without `.git`, in upper and lower case, are equivalent. `urls` are
 * repositories that are known to be there. Pure, and strict: an ambiguous address counts as another one.
 */
export function gitHubRepositoryKeys(
  urls: readonly string[],
): (address: string) => string | undefined {
  const hosts = gitHubHosts(urls);
  return (address) => {
    for (const form of forms) {
      const [, host = "", path = ""] = form.exec(address) ?? [];
      const known = withoutUsualPort(host, address);
      if (!hosts.has(known) || /\/\.{1,2}$/.test(path)) continue;
      return `${known}/${path.toLowerCase()}`;
    }
    return undefined;
  };
}

/** The hosts of GitHub's repositories, with their port if it is unusual. */
function gitHubHosts(urls: readonly string[]): ReadonlySet<string> {
  const hosts = urls.flatMap((url) => (URL.canParse(url) ? [new URL(url).host.toLowerCase()] : []));
  return new Set(["github.com", ...hosts]);
}

function withoutUsualPort(host: string, address: string): string {
  const usual = /^https:/i.test(address) ? ":443" : /^http:/i.test(address) ? ":80" : undefined;
  const plain = host.toLowerCase();
  return usual !== undefined && plain.endsWith(usual) ? plain.slice(0, -usual.length) : plain;
}
