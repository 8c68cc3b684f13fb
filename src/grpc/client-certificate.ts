import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { Fault, messageOf } from "#core/fault.ts";

/** The certificate of a machine and its key, in PEM. */
export interface ClientCertificate {
  readonly cert: string;
  readonly key: string;
}

/** Reads the files of a machine's certificate; undefined when neither is named. */
export function readClientCertificate(
  certFile: string | undefined,
  keyFile: string | undefined,
): ClientCertificate | undefined {
  if (certFile === undefined && keyFile === undefined) return undefined;
  if (certFile === undefined || keyFile === undefined) {
    throw new Fault(
      "invalid_argument",
      "a machine's certificate needs its key, and a key its certificate: name both, with --client-cert and --client-key or GRANGE_CLIENT_CERT and GRANGE_CLIENT_KEY",
    );
  }
  const cert = textOf(certFile);
  const key = textOf(keyFile);
  try {
    if (new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))) return { cert, key };
  } catch (cause) {
    throw new Fault(
      "invalid_argument",
      `${certFile} and ${keyFile} must contain a certificate and its key in PEM: ${messageOf(cause)}`,
      { cause },
    );
  }
  throw new Fault(
    "invalid_argument",
    `the key in ${keyFile} does not belong to the certificate in ${certFile}`,
  );
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    throw new Fault("invalid_argument", `cannot read ${file}: ${messageOf(cause)}`, { cause });
  }
}
