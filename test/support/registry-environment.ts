/** Variables for a program of a test that uses a registry of packages: `npm test` removes NODE_EXTRA_CA_CERTS for all others. */
export function registryEnvironment(): Readonly<Record<string, string>> {
  const certificates = process.env["GRANGE_TEST_REGISTRY_CA"];
  return certificates === undefined ? {} : { NODE_EXTRA_CA_CERTS: certificates };
}
