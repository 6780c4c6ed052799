/**
 * The commands that carry documents out of a running server and into one: {@code export}, {@code import} and {@code copy}. {@link
 * io.caravan.server.cli.carry.Exporter} hands documents to a {@link io.caravan.server.cli.carry.DocumentReceiver}, one
 * after the other and a value at a time: {@link io.caravan.server.cli.carry.ExportWriter} makes a file of them, {@link
 * io.caravan.server.cli.carry.ExportReader} hands out those of a file, {@link io.caravan.server.cli.carry.Importer} gives
 * them to a server. {@link io.caravan.server.cli.carry.RedisImport} has the lists of a Redis instead of a file. Some MiB are in memory, or one value, whatever a document's length. docs/FORMAT.md has the file.
 */
@NullMarked
package io.caravan.server.cli.carry;

import org.jspecify.annotations.NullMarked;
