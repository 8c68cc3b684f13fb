import { z } from "zod";
import {
  type AddForgeRepository,
  ForgeExamination,
  type ForgePolicyChange,
  ForgeRepositories,
  ForgeRepository,
  ForgeRepositoryDetail,
} from "#api/forge.ts";
import type { ApiClient } from "./api-client.ts";

export function forgeCalls({ get, post }: Pick<ApiClient, "get" | "post">) {
  const named = (repository: string) => new URLSearchParams({ repository }).toString();
  return {
    repositories: () => get(ForgeRepositories, "/forge/repositories"),
    repository: (name: string) => get(ForgeRepositoryDetail, `/forge/repository?${named(name)}`),
    examine: (name: string | undefined) =>
      get(ForgeExamination, `/forge/examination${name === undefined ? "" : `?${named(name)}`}`),
    add: (wanted: AddForgeRepository) => post(ForgeRepository, "/forge/repositories", wanted),
    remove: (repository: string) =>
      post(z.object({ removed: z.string() }), "/forge/repositories/remove", { repository }),
    setPolicy: (repository: string, policy: ForgePolicyChange) =>
      post(ForgeRepository, "/forge/repositories/policy", { repository, policy }),
    look: (repository: string) => post(ForgeRepository, "/forge/repositories/look", { repository }),
    approve: (repository: string, number: number, head: string) =>
      post(z.unknown(), "/forge/approve", { repository, number, head }),
  };
}
