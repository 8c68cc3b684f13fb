/**
 * Waits for statements of one transaction that were sent without waiting for each other.
 *
 * They run in the order in which they were sent and take one round trip. All are awaited, also when one fails, because
 * none may run after the rollback. Throws the first error; later errors only follow from it.
 */
export async function together<const Sent extends readonly unknown[]>(
  sent: Sent,
): Promise<{ -readonly [Each in keyof Sent]: Awaited<Sent[Each]> }> {
  const all = Promise.all(sent);
  // Errors are handled below, when all have ended.
  all.catch(() => {});
  await Promise.allSettled(sent);
  return all as Promise<{ -readonly [Each in keyof Sent]: Awaited<Sent[Each]> }>;
}
