package io.caravan.server.archive;

import io.caravan.server.archive.format.Manifest;

/**
 * A manifest as it lies in an archive.
 *
 * @param manifest what it says
 * @param tag tells it from what was and will be in its place; {@link Archive#commit} depends on it
 */
public record KeptManifest(Manifest manifest, String tag) {}
