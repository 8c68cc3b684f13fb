import type { Principal } from "#access/principal.ts";
import type { RemoveSecret, Secret, SetSecret } from "#api/secret.ts";

/** Secrets, of which nobody is ever told the value. */
export interface SecretFarm {
  secrets(by: Principal): Promise<Secret[]>;
  setSecret(request: SetSecret, by: Principal): Promise<Secret>;
  removeSecret(at: RemoveSecret, by: Principal): Promise<void>;
}
