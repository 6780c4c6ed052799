package io.caravan.server.archive.push;

import io.caravan.server.document.ArchiveMark;

/**
 * What an archive has of a document that it was asked to have.
 *
 * @param mark which generation it is, and of which values
 * @param uploaded false when it had that already, because nothing had changed
 */
public record Archived(ArchiveMark mark, boolean uploaded) {}
