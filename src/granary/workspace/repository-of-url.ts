/**
 * Returns the name of a repository, from the address of its remote: `owner/name` for a forge, the last directory for a
 * path. The farm computes the same name. It never contains a user, a password or a host.
 */
export function repositoryOfUrl(url: string): string {
  const plain = url
    .trim()
    .replace(/[?#].*$/, "")
    .replace(/\/+$/, "")
    .replace(/(\/\.git|\.git)$/, "");
  const remote = /^(?:[a-z+]+:\/\/(?!\/)[^/]+|[^/:]+:(?!\/\/))\/?(.*)$/i.exec(plain)?.[1];
  const parts = (remote ?? plain).split("/").filter((part) => part !== "");
  const name = parts.slice(remote === undefined ? -1 : -2).join("/");
  return name.replace(/[^A-Za-z0-9._/-]/g, "-").slice(0, 200) || "repository";
}
