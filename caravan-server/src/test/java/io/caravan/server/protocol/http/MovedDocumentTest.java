package io.caravan.server.protocol.http;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.catalog.DocumentName;
import io.caravan.server.document.DocumentAttributes;
import io.caravan.server.document.EditedDocument;
import io.caravan.server.document.ImportStep;
import io.caravan.server.document.ImportStep.Replaced;
import io.caravan.server.document.MoveStep;
import io.caravan.server.document.MoveStep.Kind;
import io.caravan.server.document.Outcome;
import io.caravan.server.document.RedirectTarget;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.Function;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests the HTTP responses for a document that is being moved to another server, or was moved. */
class MovedDocumentTest {
    private static final DocumentName NAME = DocumentName.of("a/b");
    private static final String STREAM = "/v1/stream/a/b";

    @AutoClose
    private HttpFixture server;

    @BeforeEach
    void start() throws Exception {
        server = HttpFixture.serving();
        importDocument(Replaced.NOTHING);
    }

    private void edit(Function<EditedDocument, Object> edit) {
        Outcome.await(outcome -> server.documents.write(NAME, edit, outcome));
    }

    private void importDocument(Replaced replaced) {
        ImportStep whole = new ImportStep(
                ImportStep.Kind.WHOLE, List.of(7L), replaced, DocumentAttributes.NONE, List.of("x".getBytes(UTF_8)));
        edit(whole::applyTo);
    }

    private void fence(String to) {
        edit(new MoveStep(Kind.FENCE, OptionalLong.of(5), RedirectTarget.parse(to))::applyTo);
    }

    private void redirect() {
        edit(new MoveStep(Kind.REDIRECT, OptionalLong.of(5), null)::applyTo);
    }

    @Test
    void movedDocumentIsFencedThenRedirected() throws Exception {
        fence("other:6380 http://other:4437");
        HttpResponse<String> fenced = server.append(STREAM, "application/octet-stream", "y");
        HttpFixture.assertProblem(fenced, 503, "moving");
        assertThat(fenced.headers().firstValue("Retry-After")).hasValue("1");
        assertThat(server.get(STREAM + "?offset=-1").statusCode()).isEqualTo(200);

        redirect();
        HttpResponse<String> read = server.get(STREAM + "?offset=-1");
        HttpFixture.assertProblem(read, 307, "moved");
        assertThat(read.headers().firstValue("Location")).hasValue("http://other:4437" + STREAM + "?offset=-1");
        assertThat(read.headers().firstValue("Cache-Control")).hasValue("no-store");
        assertThat(server.append(STREAM, "text/plain", "y").statusCode()).isEqualTo(307);
        String delete = "{\"operations\":[{\"path\":\"" + STREAM + "\",\"delete\":true}]}";
        HttpResponse<String> batch = server.append("/v1/batch", "application/json", delete);
        HttpFixture.assertProblem(batch, 421, "moved");
        assertThat(batch.body()).contains("because of operation 1");

        importDocument(Replaced.REDIRECT);
        assertThat(server.get(STREAM + "?offset=-1").body()).isEqualTo("x");
    }

    @Test
    void movedDocumentReportsServerWithoutHttpUrl() throws Exception {
        fence("other:6380");
        redirect();
        HttpResponse<String> read = server.get(STREAM + "?offset=-1");
        assertThat(read.statusCode()).isEqualTo(421);
        assertThat(read.body()).contains("has been moved to other:6380");
    }

    /** A reader of a document that is being imported must wait. */
    @Test
    void unfinishedImportIsNotVisible() throws Exception {
        server.send("DELETE", STREAM, null);
        ImportStep begin = new ImportStep(
                ImportStep.Kind.BEGIN, List.of(7L), Replaced.NOTHING, DocumentAttributes.NONE, List.of());
        edit(begin::applyTo);
        assertThat(server.get(STREAM + "?offset=-1").statusCode()).isEqualTo(503);
    }
}
