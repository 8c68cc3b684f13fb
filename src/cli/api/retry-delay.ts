/**
 * How long to wait before the server is asked again, ms.
 *
 * Doubles from 100 ms to 5 s: a server that restarts is back within a second, one
 * that is gone for good is not hammered. `spread` from 0 to 1 keeps many clients
 * from coming back at the same time.
 */
export function retryDelayMs(failures: number, spread: number): number {
  const base = Math.min(5_000, 100 * 2 ** Math.max(0, failures - 1));
  return base * (0.5 + spread / 2);
}
