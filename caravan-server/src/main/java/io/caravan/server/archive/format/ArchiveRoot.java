package io.caravan.server.archive.format;

import java.util.UUID;

/**
 * The object that makes a place an archive, and says who owns it.
 *
 * @param store identity of the store whose documents are in it
 * @param epoch number of the owner, which has grown by one with each server that took the archive over
 * @param owner the owner's host and process, for people
 * @param sinceMillis when it took over, by its clock, in milliseconds since 1970
 */
public record ArchiveRoot(UUID store, long epoch, String owner, long sinceMillis) {}
