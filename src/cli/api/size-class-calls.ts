import {
  ExecutionSizeClass,
  type SetSizeClassSettings,
  SizeClasses,
  SizeClassKeyDetail,
  SizeClassKeys,
  SizeClassSettingsNow,
} from "#api/size-class.ts";
import type { ApiClient } from "./api-client.ts";

export function sizeClassCalls({ get, put }: Pick<ApiClient, "get" | "put">) {
  return {
    classes: () => get(SizeClasses, "/size-classes"),
    explain: (execution: string) =>
      get(ExecutionSizeClass, `/executions/${encodeURIComponent(execution)}/size-class`),
    key: (key: string, project: string, domain: string | undefined) => {
      const search = new URLSearchParams({ project });
      if (domain !== undefined) search.set("domain", domain);
      return get(
        SizeClassKeyDetail,
        `/size-class-keys/${encodeURIComponent(key)}?${search.toString()}`,
      );
    },
    keys: (text: string | undefined, limit: number) => {
      const search = new URLSearchParams({ limit: String(limit) });
      if (text !== undefined) search.set("text", text);
      return get(SizeClassKeys, `/size-class-keys?${search.toString()}`);
    },
    settings: () => get(SizeClassSettingsNow, "/size-classes/settings"),
    setSettings: (change: SetSizeClassSettings) =>
      put(SizeClassSettingsNow, "/size-classes/settings", change),
  };
}
