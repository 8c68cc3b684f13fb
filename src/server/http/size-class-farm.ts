import type { Principal } from "#access/principal.ts";
import type {
  ExecutionSizeClass,
  SetSizeClassSettings,
  SizeClassDetail,
  SizeClasses,
  SizeClassKeyDetail,
  SizeClassKeys,
  SizeClassSettingsNow,
} from "#api/size-class.ts";

/** Which size classes were chosen, why, and what came of it. */
export interface SizeClassFarm {
  executionSizeClass(id: string): Promise<ExecutionSizeClass | undefined>;
  sizeClasses(): Promise<SizeClasses>;
  /** Undefined when no platform has it; throws when several have, and none is named. */
  sizeClass(sizeClass: number, platform: string | undefined): Promise<SizeClassDetail | undefined>;
  sizeClassKeys(query: {
    readonly text: string | undefined;
    readonly before: string | undefined;
    readonly limit: number;
  }): Promise<SizeClassKeys>;
  sizeClassKey(address: {
    readonly project: string;
    /** Undefined: that in which it was seen last. */
    readonly domain: string | undefined;
    readonly key: string;
  }): Promise<SizeClassKeyDetail | undefined>;
  sizeClassSettings(): Promise<SizeClassSettingsNow>;
  setSizeClassSettings(change: SetSizeClassSettings, by: Principal): Promise<SizeClassSettingsNow>;
}
