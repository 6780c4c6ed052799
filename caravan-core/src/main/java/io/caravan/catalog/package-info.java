/**
 * Names and attributes of documents, kept in a list of the store itself.
 *
 * <p>{@link io.caravan.catalog.Catalog} is the entry point: {@link io.caravan.catalog.Catalog#find find} for readers,
 * {@link io.caravan.catalog.Catalog#edit(DocumentName) edit} for writers. An {@link io.caravan.catalog.Edit} collects
 * operations on one or several named documents. It commits them as one batch of the store, with the entries that the
 * catalog needs.
 *
 * <p>{@link io.caravan.catalog.CatalogEntry} is the layout of an entry, and {@link io.caravan.catalog.CatalogLog} is
 * the list of entries with its rolling compaction.
 */
@NullMarked
package io.caravan.catalog;

import org.jspecify.annotations.NullMarked;
