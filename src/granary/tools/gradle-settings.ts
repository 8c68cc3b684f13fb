/** Returns an init script that gives a build a remote cache, if its own settings name none. */
export function gradleInitScript(url: string): string {
  return `gradle.settingsEvaluated { settings ->
  if (settings.buildCache.remote == null) {
    settings.buildCache.remote(org.gradle.caching.http.HttpBuildCache) {
      url = "${url}/"
      push = true
      if (delegate.hasProperty("allowInsecureProtocol")) allowInsecureProtocol = true
    }
  }
}
`;
}
