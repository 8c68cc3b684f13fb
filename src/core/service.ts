/**
 * Something that runs until it is stopped.
 *
 * `stop` may be called twice. It ends the work in progress and resolves when nothing of the service is left: no timer,
 * no socket, no child process.
 */
export interface Service {
  stop(): Promise<void>;
}
