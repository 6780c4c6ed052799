/**
 * The commands that transfer documents between servers and files: {@code export}, {@code import}, {@code copy}, and
 * {@code move}.
 *
 * <p>{@link io.caravan.server.cli.migration.Exporter} passes documents to a {@link
 * io.caravan.server.cli.migration.DocumentReceiver}, one value at a time. {@link io.caravan.server.cli.migration.ExportWriter}
 * writes them to a file, {@link io.caravan.server.cli.migration.ExportReader} reads them from a file, and {@link
 * io.caravan.server.cli.migration.Importer} sends them to a server. {@link io.caravan.server.cli.migration.RedisImport} reads
 * Redis lists instead of a file. Memory holds a few MiB, or one value, regardless of a document's length.
 * docs/internals/file-format.md describes the file.
 */
@NullMarked
package io.caravan.server.cli.migration;

import org.jspecify.annotations.NullMarked;
