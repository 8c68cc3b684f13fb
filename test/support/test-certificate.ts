import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

export interface TestCertificate {
  /** Files in PEM. The certificate is self-signed, and is its own authority. */
  readonly cert: string;
  readonly key: string;
  /** The content of the certificate's file. */
  readonly pem: string;
}

/** Makes a certificate with openssl: Node can read certificates, but not make them. */
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
