import type { Principal } from "#access/principal.ts";
import type {
  AddForgeRepository,
  ForgeDeliveryView,
  ForgeExamination,
  ForgePolicyChange,
  ForgeRepository,
  ForgeRepositoryDetail,
} from "#api/forge.ts";
import type { RawWebhook, TakenWebhook } from "#forge/webhooks/take-webhook.ts";

/** Watched repositories. One is named as graphs call it, or as its forge does. */
export interface ForgeFarm {
  forgeRepositories(): Promise<ForgeRepository[]>;
  forgeRepository(name: string): Promise<ForgeRepositoryDetail | undefined>;
  forgeDeliveries(): Promise<ForgeDeliveryView[]>;
  addForgeRepository(wanted: AddForgeRepository, by: Principal): Promise<ForgeRepository>;
  removeForgeRepository(name: string, by: Principal): Promise<string>;
  setForgePolicy(name: string, change: ForgePolicyChange, by: Principal): Promise<ForgeRepository>;
  lookAtForgeRepository(name: string, by: Principal): Promise<ForgeRepository>;
  approvePull(
    name: string,
    approval: { readonly number: number; readonly head: string },
    by: Principal,
  ): Promise<void>;
  examineForge(name: string | undefined, by: Principal): Promise<ForgeExamination>;
  /** What a forge sends by itself; its signature says who it is. */
  takeWebhook(raw: RawWebhook): Promise<TakenWebhook>;
}
