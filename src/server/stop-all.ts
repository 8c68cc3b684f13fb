import type { Service } from "#core/service.ts";

/**
 * Stops services one after the other, all of them, whatever happens to one.
 *
 * Throws the first failure at the end, so that it is not lost.
 */
export async function stopAll(services: readonly Service[]): Promise<void> {
  const failures: unknown[] = [];
  for (const service of services) {
    await service.stop().catch((cause: unknown) => failures.push(cause));
  }
  if (failures.length > 0) throw failures[0];
}
