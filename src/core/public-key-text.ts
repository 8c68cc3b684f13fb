import { z } from "zod";

/**
 * The public half of a signing key for copying: `ed25519:` and 32 bytes in base64url.
 *
 * One line without spaces, so that it survives chats and shells.
 */
export const PublicKeyText = z
  .string()
  .trim()
  .regex(
    /^ed25519:[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/,
    "a public key is `ed25519:` and 43 letters, digits, - and _, as `grange key create` prints it",
  );
