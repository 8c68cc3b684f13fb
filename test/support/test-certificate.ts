import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

export interface TestCertificate {
  /** Files in PEM. The certificate has signed itself, and is its own authority. */
  readonly cert: string;
  readonly key: string;
  /** What the certificate's file holds. */
  readonly pem: string;
}

/** Makes a certificate by openssl: Node reads certificates, and makes none. */
export async function testCertificate(
  directory: string,
  name = "farm",
  names = "DNS:localhost,IP:127.0.0.1",
): Promise<TestCertificate> {
  const cert = join(directory, `${name}.crt`);
  const key = join(directory, `${name}.key`);
  const what = `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=${name}`;
  await promisify(execFile)(
    "openssl",
    what.split(" ").concat("-addext", `subjectAltName=${names}`, "-keyout", key, "-out", cert),
  );
  return { cert, key, pem: await readFile(cert, "utf8") };
}
