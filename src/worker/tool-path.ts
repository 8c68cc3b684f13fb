/** Where the worker's own tools are: pivot_root and its like are not on everybody's PATH. */
export function toolPath(path: string): string {
  return `${path}:/usr/sbin:/sbin`;
}
