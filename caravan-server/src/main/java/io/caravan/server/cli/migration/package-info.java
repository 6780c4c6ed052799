/**
 * The commands that transfer documents between servers and files: {@code export}, {@code import}, {@code copy}, and
 * {@code move}.
 *
 * <p>Sources pass documents to a {@link io.caravan.server.cli.migration.DocumentReceiver}, one value at a time: {@link
 * io.caravan.server.cli.migration.Exporter} reads them from a server, {@link
 * io.caravan.server.cli.migration.ExportReader} from a file, {@link io.caravan.server.cli.migration.RedisImport} from
 * Redis, and {@link io.caravan.server.cli.migration.StreamImport} from a Durable Streams server. There are two
 * receivers: {@link io.caravan.server.cli.migration.ExportWriter} writes documents to a file, and {@link
 * io.caravan.server.cli.migration.Importer} sends them to a server, reads them back, and compares them.
 *
 * <p>{@link io.caravan.server.cli.migration.DocumentSync} finds what has changed since the last pass, and transfers it
 * through an importer. The commands hold a few MiB, or one value, in memory, regardless of a document's length.
 * docs/internals/file-format.md describes the export file.
 */
@NullMarked
package io.caravan.server.cli.migration;

import org.jspecify.annotations.NullMarked;
