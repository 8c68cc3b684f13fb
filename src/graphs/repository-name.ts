/** Returns the name of a repository from its address: `owner/name` for a forge, the last directory for a path. */
export function repositoryName(url: string): string {
  const plain = url
    .replace(/[?#].*$/, "")
    .replace(/\/+$/, "")
    .replace(/(\/\.git|\.git)$/, "");
  const remote = /^(?:[a-z+]+:\/\/(?!\/)[^/]+|[^/]+@[^/:]+:)\/?(.*)$/.exec(plain)?.[1];
  const parts = (remote ?? plain).split("/").filter((part) => part !== "");
  const name = parts.slice(remote === undefined ? -1 : -2).join("/");
  return name.replace(/[^A-Za-z0-9._/-]/g, "-") || "repository";
}
