/** Returns why an invocation without running actions waits: the reason of its first action in the queue. */
export function invocationWaiting(queued: number, sentence: string): string {
  return queued === 1
    ? `its one action ${sentence}`
    : `${queued.toLocaleString("en")} actions are queued, and the first of them ${sentence}`;
}
