/** Returns why an invocation waits when nothing of it runs: the reason of its first action in the queue. */
export function invocationWaiting(queued: number, sentence: string): string {
  return queued === 1
    ? `its one action ${sentence}`
    : `${queued.toLocaleString("en")} actions are queued, and the first of them ${sentence}`;
}
