/** Returns the packages that a bundle imports, in order, each once; files and Node's own modules are left out. */
export function packagesOf(bundle: string): string[] {
  const imports = bundle.matchAll(/^import (?:[^"'\n]+ from )?"([^"\n]+)";$/gm);
  const names = Array.from(imports, ([, name = ""]) => name);
  return [...new Set(names)].filter((name) => !/^(?:\.|\/|#|node:)/.test(name));
}
