/**
 * Keeps the archive of a running server up to date. {@code Archiver} assembles the parts. {@code Ownership} claims the
 * archive, and keeps checking that no other server has claimed it. {@code DirtyScanner} scans all documents and adds
 * those that have changed to the {@code ArchiveSchedule}. A worker takes a document, and {@code DocumentUploader} puts
 * it, or its tombstone if it was deleted, into the archive. If the archive cannot be reached, all jobs wait for one
 * {@code BackOff}. A document that cannot be archived is retried once, then waits for the next round.
 */
@NullMarked
package io.caravan.server.archive.push;

import org.jspecify.annotations.NullMarked;
