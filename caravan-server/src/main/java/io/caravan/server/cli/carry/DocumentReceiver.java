package io.caravan.server.cli.carry;

import io.caravan.server.cli.client.Carrier.Description;
import java.io.IOException;

/** Takes documents, one after the other: each is begun, has its values in order, and is ended or abandoned. */
interface DocumentReceiver {
    /** Begins a document; there is none that was not ended. */
    void begin(byte[] name, Description document) throws IOException;

    /** Takes the next value of the document. */
    void value(long sequence, byte[] value) throws IOException;

    /** The document is whole, and this is its sum. */
    void end(DocumentSum sum) throws IOException;

    /** The rest of the document will not come: what has come of it does not count. */
    void abandon() throws IOException;
}
