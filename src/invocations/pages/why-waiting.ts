/** What an invocation waits for, when nothing of it runs: the first in its queue speaks for all. */
export function invocationWaiting(queued: number, sentence: string): string {
  return queued === 1
    ? `its one action ${sentence}`
    : `${queued.toLocaleString("en")} actions are queued, and the first of them ${sentence}`;
}
