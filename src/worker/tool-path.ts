/** Returns the PATH for the worker's own tools: pivot_root and similar programs are not on every user's PATH. */
export function toolPath(path: string): string {
  return `${path}:/usr/sbin:/sbin`;
}
