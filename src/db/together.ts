/**
 * Waits for statements of one transaction that were sent without waiting for each other.
 *
 * They run in the order in which they were sent, for the price of one round trip. All are waited for, also
 * when one fails: none may go on after the transaction was rolled back. Throws what failed first; the
 * others then fail only because of it.
 */
export async function together<const Sent extends readonly unknown[]>(
  sent: Sent,
): Promise<{ -readonly [Each in keyof Sent]: Awaited<Sent[Each]> }> {
  const all = Promise.all(sent);
  // Heard of below, when all are over.
  all.catch(() => {});
  await Promise.allSettled(sent);
  return all as Promise<{ -readonly [Each in keyof Sent]: Awaited<Sent[Each]> }>;
}
