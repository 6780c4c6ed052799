/** A durable store of append-only byte lists: the engine, to be embedded. */
module io.caravan.core {
    // To unmap deleted files at once, see io.caravan.io.Unmapper.
    requires jdk.unsupported;
    requires org.slf4j;
    requires static transitive org.jspecify;

    exports io.caravan;
    exports io.caravan.catalog to
            io.caravan.server;
}
