/** The embeddable storage engine: a durable store of append-only lists of byte values. */
module io.caravan.core {
    // Used to unmap deleted files at once on Java 17 to 21; see io.caravan.io.FileMapping.
    requires jdk.unsupported;
    requires org.slf4j;
    requires static transitive org.jspecify;

    exports io.caravan;
    exports io.caravan.catalog to
            io.caravan.chat,
            io.caravan.server;
    exports io.caravan.format to
            io.caravan.server;
    exports io.caravan.inspect to
            io.caravan.server;
    exports io.caravan.io to
            io.caravan.server;
}
