package io.caravan.server.document;

import io.caravan.catalog.DocumentName;
import java.util.List;
import java.util.function.Function;

/**
 * A write that appends values to one document. If the append changes nothing but the values, and nothing about the
 * document has to be checked, {@link DocumentService} passes the values to the store without a draft of the document.
 * Most appends are of this kind.
 */
public interface Append<T> extends Function<DocumentEdits, T> {
    DocumentName name();

    /** Returns the values, at least one unless the write {@link #needsDraft() needs a draft}. */
    List<byte[]> values();

    /** Whether the write changes or checks more than the values in every state of the document. */
    default boolean needsDraft() {
        return false;
    }

    /**
     * Whether the write would only append the values to a document that is in this state and has only {@linkplain
     * DocumentAttributes#leavesAppendsAlone() attributes without influence} on appends.
     */
    boolean onlyValues(DocumentInfo info);

    /** Returns the result of the write, from the state after an append of only the values. */
    T result(DocumentInfo info);

    /** Creates an append without conditions, which creates the document if it does not exist. */
    static <T> Append<T> of(DocumentName name, List<byte[]> values, Function<DocumentInfo, T> result) {
        return new Unconditional<>(name, values, result);
    }

    /** An append without conditions. */
    record Unconditional<T>(DocumentName name, List<byte[]> values, Function<DocumentInfo, T> toResult)
            implements Append<T> {
        @Override
        public boolean onlyValues(DocumentInfo info) {
            return info.isPlain() || !info.attributes().isJson();
        }

        @Override
        public T result(DocumentInfo info) {
            return toResult.apply(info);
        }

        @Override
        public T apply(DocumentEdits edits) {
            EditedDocument document = edits.document(name);
            document.append(values);
            return result(document.existing());
        }
    }
}
