package io.caravan.server.document;

import io.caravan.server.document.DocumentImport.Replaced;
import java.util.List;

/**
 * A step in the import of a document, requested by a client over any protocol.
 *
 * @param numbers the numeric arguments of the step, in the order of {@link Kind#numbers()}
 * @param replaced the existing document that a new one may replace
 */
public record ImportStep(
        Kind kind, List<Long> numbers, Replaced replaced, DocumentAttributes attributes, List<byte[]> values) {
    private static final String FIRST = "first";
    private static final String ID = "id";
    private static final String SEQUENCE = "sequence";
    private static final String NEXT = "next";

    /** The kinds of import steps. */
    public enum Kind {
        /** Imports a complete document in one step. */
        WHOLE(NEXT, true, true, FIRST),
        /** Begins an import by creating an invisible document. */
        BEGIN(ID, true, false, FIRST),
        /** Appends values to a document whose import has begun. */
        ADD(NEXT, false, true, ID, SEQUENCE),
        /** Ends an import by making the document visible. */
        END(NEXT, false, false, ID, SEQUENCE),
        /** Updates an imported document after its source has changed. */
        CONTINUE(NEXT, true, true, ID, SEQUENCE, FIRST),
        /** Deletes a document whose import has begun. */
        ABORT("aborted", false, false, ID),
        /** Deletes an imported document. */
        DELETE("deleted", false, false, ID);

        private final String result;
        private final boolean takesAttributes;
        private final boolean takesValues;
        private final List<String> numbers;

        Kind(String result, boolean takesAttributes, boolean takesValues, String... numbers) {
            this.result = result;
            this.takesAttributes = takesAttributes;
            this.takesValues = takesValues;
            this.numbers = List.of(numbers);
        }

        /** Returns the name of the step's result in an HTTP response. */
        public String result() {
            return result;
        }

        public boolean takesAttributes() {
            return takesAttributes;
        }

        public boolean takesValues() {
            return takesValues;
        }

        /** Whether the step creates a document, which may replace another. */
        public boolean creates() {
            return this == WHOLE || this == BEGIN;
        }

        /** Returns the names of the step's numeric arguments. */
        public List<String> numbers() {
            return numbers;
        }
    }

    public ImportStep {
        numbers = List.copyOf(numbers);
        values = List.copyOf(values);
    }

    /**
     * Performs the step as part of a write.
     *
     * @return a sequence or an id, or whether a document was deleted
     */
    public Object applyTo(EditedDocument document) {
        long first = numbers.get(0);
        return switch (kind) {
            case WHOLE -> DocumentImport.whole(document, attributes, first, values, replaced);
            case BEGIN -> DocumentImport.begin(document, attributes, first, replaced);
            case ADD -> DocumentImport.add(document, first, numbers.get(1), values);
            case END -> DocumentImport.end(document, first, numbers.get(1));
            case CONTINUE ->
                DocumentImport.continueImport(document, first, numbers.get(1), numbers.get(2), attributes, values);
            case ABORT -> DocumentImport.abort(document, first);
            case DELETE -> DocumentImport.delete(document, first);
        };
    }
}
