/**
 * Orders the forge's numeric ids, which are texts, from the lowest: the object that was made first.
 */
export function byRemoteId(a: { readonly id: string }, b: { readonly id: string }): number {
  if (/^\d+$/.test(a.id) && /^\d+$/.test(b.id)) {
    const [x, y] = [BigInt(a.id), BigInt(b.id)];
    return x < y ? -1 : x > y ? 1 : 0;
  }
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0;
}
