import { z } from "zod";
import { Platform, requirementsOf } from "#core/platform.ts";

/** Properties that workers of a class offer, except those that tell the farm how to run an action. */
const OfferedPlatform = Platform.refine(
  (platform) => Object.keys(requirementsOf(platform)).length === Object.keys(platform).length,
  "size-class, cpus and network are properties that actions ask for; name properties that workers offer, such as OSFamily",
);

const SizeClass = z.number().int().min(1).max(1_000_000);
const Workers = z.number().int().min(0).max(100_000);

/** Declares a size class, with or without workers. */
export const DeclareClass = z
  .strictObject({
    platform: OfferedPlatform,
    sizeClass: SizeClass,
    /** The CPUs of one action; null: not declared. */
    cpus: z.number().positive().max(1_000_000).nullable().default(null),
    memoryBytes: z
      .number()
      .int()
      .positive()
      .max(2 ** 50)
      .nullable()
      .default(null),
    /** The price of a second of one slot, in any unit; null: the number of the class. */
    price: z.number().nonnegative().max(1e12).nullable().default(null),
    /**
     * The number of workers that an autoscaler may start; with 0 at most, only workers that are started by others
     * count.
     */
    leastWorkers: Workers.default(0),
    mostWorkers: Workers.nullable().default(null),
    slotsPerWorker: z.number().int().min(1).max(1_024).default(1),
  })
  .refine(({ leastWorkers, mostWorkers }) => mostWorkers === null || mostWorkers >= leastWorkers, {
    path: ["mostWorkers"],
    message: "the largest number must not be below the smallest",
  })
  .meta({ id: "DeclareClass" });
export type DeclareClass = z.input<typeof DeclareClass>;

export const UndeclareClass = z
  .strictObject({ platform: Platform, sizeClass: SizeClass })
  .meta({ id: "UndeclareClass" });
export type UndeclareClass = z.infer<typeof UndeclareClass>;

/** A declared size class. */
export const DeclaredClass = z
  .object({
    platform: Platform,
    sizeClass: z.number(),
    cpus: z.number().nullable(),
    memoryBytes: z.number().nullable(),
    price: z.number().nullable(),
    leastWorkers: z.number(),
    mostWorkers: z.number().nullable(),
    slotsPerWorker: z.number(),
    declaredBy: z.string(),
    declaredAt: z.iso.datetime(),
  })
  .meta({ id: "DeclaredClass" });
export type DeclaredClass = z.infer<typeof DeclaredClass>;
