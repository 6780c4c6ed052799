package io.caravan.server.protocol.http.endpoint;

import io.caravan.catalog.DocumentName;
import io.caravan.server.document.AppendRequest;
import io.caravan.server.document.DocumentInfo;
import io.caravan.server.document.EditedDocument;
import io.caravan.server.protocol.http.codec.Offset;
import io.caravan.server.protocol.http.codec.StreamName;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;

/** One change of a batch. */
sealed interface StreamChange {
    /** Returns the name of the document to change. */
    DocumentName name();

    /** Makes this change as part of a write, and returns the resulting state of the stream. */
    Map<String, Object> applyTo(EditedDocument document);

    /**
     * Appends to an existing stream.
     *
     * @param sequence the sequence that the first value must get, if given
     */
    record Append(DocumentName name, List<byte[]> values, OptionalLong sequence) implements StreamChange {
        @Override
        public Map<String, Object> applyTo(EditedDocument document) {
            AppendRequest addition = new AppendRequest(values, false, null, null, null, sequence);
            return told(name, addition.applyTo(document).info());
        }
    }

    /** Trims the values before an offset. */
    record Trim(DocumentName name, Offset to) implements StreamChange {
        @Override
        public Map<String, Object> applyTo(EditedDocument document) {
            return told(name, StreamWrites.trim(document, to));
        }
    }

    /** Deletes an existing stream. */
    record Delete(DocumentName name) implements StreamChange {
        @Override
        public Map<String, Object> applyTo(EditedDocument document) {
            if (!document.delete()) {
                throw ReadRequest.notFound(name);
            }
            Map<String, Object> told = path(name);
            told.put("deleted", true);
            return told;
        }
    }

    private static Map<String, Object> told(DocumentName name, DocumentInfo info) {
        Map<String, Object> told = path(name);
        told.put("firstOffset", Offset.of(info.firstSequence()));
        told.put("nextOffset", Offset.of(info.nextSequence()));
        return told;
    }

    private static Map<String, Object> path(DocumentName name) {
        Map<String, Object> told = new LinkedHashMap<>();
        told.put("path", StreamName.path(name));
        return told;
    }
}
