package io.caravan.server.document;

import io.caravan.catalog.DocumentName;
import java.util.List;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * A write that appends values to one document. If the append changes nothing but the values, and nothing about the
 * document has to be checked, {@link DocumentService} passes the values to the store without a draft of the document.
 * Most appends are of this kind.
 *
 * @param values the values, at least one
 * @param onlyValues whether {@code change} would only append the values to a document that is in this state and has
 *     only {@linkplain DocumentAttributes#leavesAppendsAlone() attributes without influence} on appends
 * @param result returns the result of the write, from the state after an append of only the values
 * @param change performs the write in all other cases
 */
public record Append<T>(
        DocumentName name,
        List<byte[]> values,
        Predicate<DocumentInfo> onlyValues,
        Function<DocumentInfo, T> result,
        Function<EditedDocument, T> change)
        implements Function<DocumentEdits, T> {

    /** Creates an append without conditions, which creates the document if it does not exist. */
    public static <T> Append<T> of(DocumentName name, List<byte[]> values, Function<DocumentInfo, T> result) {
        return new Append<>(name, values, info -> !info.attributes().isJson(), result, document -> {
            document.append(values);
            return result.apply(document.existing());
        });
    }

    @Override
    public T apply(DocumentEdits edits) {
        return change.apply(edits.document(name));
    }
}
