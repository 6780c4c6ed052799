/**
 * Names and attributes of documents, kept in a list of the store itself.
 *
 * <p>{@link io.caravan.catalog.Catalog} is the way in: {@link io.caravan.catalog.Catalog#find find} for readers,
 * {@link io.caravan.catalog.Catalog#edit(DocumentName) edit} for writers. An {@link io.caravan.catalog.Edit} gathers
 * operations over one or several named documents and commits them, with whatever entries the catalog needs, as one
 * batch of the store. {@link io.caravan.catalog.CatalogEntry} is the layout of an entry,
 * {@link io.caravan.catalog.CatalogLog} the list of them and its rolling compaction,
 * {@link io.caravan.catalog.DocumentTable} one of the stripes that hold the documents in memory.
 */
@NullMarked
package io.caravan.catalog;

import org.jspecify.annotations.NullMarked;
