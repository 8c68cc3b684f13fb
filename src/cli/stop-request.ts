interface StopRequest {
  /** Resolves with the reason when the process should stop. */
  readonly received: Promise<string>;
}

/**
 * Detects the events that end a server or a worker: a signal or, for a child of `grange up`, the end of its parent,
 * which closes the pipe on stdin. Created before anything is started, so that no request to stop is missed.
 */
export function stopRequest(endsWithParent: boolean): StopRequest {
  const signalled = new Promise<string>((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
      let times = 0;
      process.on(signal, () => {
        times += 1;
        if (times > 2) process.exit(1);
        resolve(signal);
      });
    }
    if (endsWithParent) {
      const gone = () => resolve("the parent process has ended");
      process.stdin.on("end", gone).on("error", gone).resume();
    }
  });
  return { received: signalled };
}
