import type { Service } from "#core/service.ts";

/**
 * Stops all services one after the other, even when one of them fails to stop.
 *
 * Throws the first failure after the last service, so that the failure is not lost.
 */
export async function stopAll(services: readonly Service[]): Promise<void> {
  const failures: unknown[] = [];
  for (const service of services) {
    await service.stop().catch((cause: unknown) => failures.push(cause));
  }
  if (failures.length > 0) throw failures[0];
}
