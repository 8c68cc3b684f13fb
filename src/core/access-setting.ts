import { z } from "zod";

/**
 * What a farm lets callers without a token do, from the most open setting to the strictest.
 *
 * - `open`: everything.
 * - `public`: read everything, and nothing else.
 * - `private`: nothing. A caller needs a right for everything that it reads.
 */
export const AccessSetting = z.enum(["open", "public", "private"], {
  error: "must be open, public or private",
});
export type AccessSetting = z.infer<typeof AccessSetting>;

/** Returns whether a setting lets callers do something that the other one does not. */
export function isMoreOpen(one: AccessSetting, other: AccessSetting): boolean {
  return AccessSetting.options.indexOf(one) < AccessSetting.options.indexOf(other);
}
