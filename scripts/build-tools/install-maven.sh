#!/bin/sh
# Installs Maven 3.9 into DIRECTORY, with the plugins and the build cache extension of the tests' workspace, so that
# tests need no network. Debian's Maven downloads it: its own version is too old for the extension.
# Usage: scripts/build-tools/install-maven.sh DIRECTORY; then GRANGE_TEST_MAVEN=DIRECTORY
set -eu
workspace=$(cd "$(dirname "$0")/../../test/build-tools/caches/maven-workspace" && pwd)
mkdir -p "$1"
cd "$1"
mvn -q -B -Dmaven.repo.local="$PWD/download" org.apache.maven.plugins:maven-dependency-plugin:3.8.1:unpack \
  -Dartifact=org.apache.maven:apache-maven:3.9.9:zip:bin -DoutputDirectory="$PWD" -Dproject.basedir="$PWD"
chmod +x apache-maven-3.9.9/bin/mvn
rm -rf download workspace
cp -R "$workspace" workspace
cd workspace
../apache-maven-3.9.9/bin/mvn -q -B -Dmaven.repo.local="$PWD/../repository" -Dmaven.build.cache.location="$PWD/cache" package
rm -rf ../workspace
