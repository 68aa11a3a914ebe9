// Generated from the OpenAPI description by scripts/typescript_client.py: do not edit.
export const operations = {
  "addMessages": [
    "POST",
    "/v1/workspaces/{workspace}/messages",
    "json",
    true
  ],
  "addReferences": [
    "POST",
    "/v1/workspaces/{workspace}/references",
    "json",
    true
  ],
  "addToolResult": [
    "POST",
    "/v1/workspaces/{workspace}/turns/tool",
    "json",
    true
  ],
  "askQuestion": [
    "POST",
    "/v1/workspaces/{workspace}/ask",
    "json",
    true
  ],
  "askResearchQuestion": [
    "POST",
    "/api/research/ask",
    "json",
    true
  ],
  "buildContext": [
    "POST",
    "/v1/workspaces/{workspace}/context/build",
    "json",
    true
  ],
  "buildDelta": [
    "POST",
    "/v1/workspaces/{workspace}/context/delta",
    "json",
    true
  ],
  "buildMemoryContext": [
    "POST",
    "/v1/workspaces/{workspace}/memories-context",
    "json",
    true
  ],
  "buildThreadContext": [
    "POST",
    "/context/build",
    "json",
    true
  ],
  "buildWorkspaceContext": [
    "POST",
    "/v1/workspaces/{workspace}/context/workspace/build",
    "json",
    true
  ],
  "cancelJob": [
    "DELETE",
    "/v1/workspaces/{workspace}/jobs/{job}",
    "json",
    false
  ],
  "changeMemory": [
    "PUT",
    "/v1/workspaces/{workspace}/memories/{memory}",
    "json",
    true
  ],
  "checkCitations": [
    "POST",
    "/v1/workspaces/{workspace}/answers/check",
    "json",
    true
  ],
  "checkHealth": [
    "GET",
    "/healthz",
    "json",
    false
  ],
  "checkReadiness": [
    "GET",
    "/readyz",
    "json",
    false
  ],
  "compactThread": [
    "POST",
    "/v1/workspaces/{workspace}/turns/compact",
    "json",
    true
  ],
  "countUses": [
    "POST",
    "/v1/workspaces/{workspace}/uses",
    "json",
    true
  ],
  "createKey": [
    "POST",
    "/v1/workspaces/{workspace}/keys",
    "json",
    true
  ],
  "createWorkspace": [
    "POST",
    "/v1/workspaces",
    "json",
    true
  ],
  "deleteWorkspace": [
    "DELETE",
    "/v1/workspaces/{workspace}",
    "none",
    false
  ],
  "describeWorkspace": [
    "GET",
    "/v1/workspaces/{workspace}",
    "json",
    false
  ],
  "endKey": [
    "DELETE",
    "/v1/workspaces/{workspace}/keys/{key}",
    "json",
    false
  ],
  "eraseReceipts": [
    "POST",
    "/v1/workspaces/{workspace}/receipts-erase",
    "json",
    true
  ],
  "estimateWorkspaceContext": [
    "POST",
    "/v1/workspaces/{workspace}/context/workspace/estimate",
    "json",
    true
  ],
  "explainContext": [
    "POST",
    "/v1/workspaces/{workspace}/context/explain",
    "json",
    true
  ],
  "findNearMisses": [
    "POST",
    "/v1/workspaces/{workspace}/inspect/near",
    "json",
    true
  ],
  "findNodes": [
    "GET",
    "/v1/workspaces/{workspace}/inspect/nodes",
    "json",
    false
  ],
  "followJob": [
    "GET",
    "/v1/workspaces/{workspace}/jobs/{job}/events",
    "events",
    false
  ],
  "forgetMemories": [
    "POST",
    "/v1/workspaces/{workspace}/memories-forget",
    "json",
    true
  ],
  "forgetMemory": [
    "DELETE",
    "/v1/workspaces/{workspace}/memories/{memory}",
    "json",
    false
  ],
  "giveFeedback": [
    "POST",
    "/v1/workspaces/{workspace}/feedback",
    "json",
    true
  ],
  "giveItemFeedback": [
    "POST",
    "/context/feedback",
    "json",
    true
  ],
  "inspectContext": [
    "POST",
    "/v1/workspaces/{workspace}/inspect",
    "json",
    true
  ],
  "listActivity": [
    "GET",
    "/v1/workspaces/{workspace}/activity",
    "json",
    false
  ],
  "listAudit": [
    "GET",
    "/v1/workspaces/{workspace}/audit",
    "json",
    false
  ],
  "listChildren": [
    "GET",
    "/v1/workspaces/{workspace}/children",
    "json",
    false
  ],
  "listDocuments": [
    "GET",
    "/v1/workspaces/{workspace}/documents",
    "json",
    false
  ],
  "listInspectorSettings": [
    "GET",
    "/v1/inspect",
    "json",
    false
  ],
  "listJobs": [
    "GET",
    "/v1/workspaces/{workspace}/jobs",
    "json",
    false
  ],
  "listKeys": [
    "GET",
    "/v1/workspaces/{workspace}/keys",
    "json",
    false
  ],
  "listLenses": [
    "GET",
    "/v1/lenses",
    "json",
    false
  ],
  "listMemories": [
    "GET",
    "/v1/workspaces/{workspace}/memories",
    "json",
    false
  ],
  "listMemoryVersions": [
    "GET",
    "/v1/workspaces/{workspace}/memories-history",
    "json",
    false
  ],
  "listMessages": [
    "GET",
    "/v1/workspaces/{workspace}/messages",
    "json",
    false
  ],
  "listNeighbours": [
    "GET",
    "/v1/workspaces/{workspace}/neighbours",
    "json",
    false
  ],
  "listNodes": [
    "GET",
    "/v1/workspaces/{workspace}/nodes",
    "json",
    false
  ],
  "listPackers": [
    "GET",
    "/v1/packers",
    "json",
    false
  ],
  "listReceipts": [
    "GET",
    "/v1/workspaces/{workspace}/receipts",
    "json",
    false
  ],
  "listRecipes": [
    "GET",
    "/v1/recipes",
    "json",
    false
  ],
  "listReferences": [
    "GET",
    "/v1/workspaces/{workspace}/references",
    "json",
    false
  ],
  "listSources": [
    "GET",
    "/v1/workspaces/{workspace}/sources",
    "json",
    false
  ],
  "listTemplates": [
    "GET",
    "/v1/templates",
    "json",
    false
  ],
  "listThreads": [
    "GET",
    "/v1/workspaces/{workspace}/threads",
    "json",
    false
  ],
  "listUsers": [
    "GET",
    "/v1/workspaces/{workspace}/users",
    "json",
    false
  ],
  "listWorkspaces": [
    "GET",
    "/v1/workspaces",
    "json",
    false
  ],
  "moveNode": [
    "POST",
    "/v1/workspaces/{workspace}/move",
    "json",
    true
  ],
  "postAnswer": [
    "POST",
    "/v1/workspaces/{workspace}/turns/reply",
    "json",
    true
  ],
  "previewContext": [
    "POST",
    "/v1/workspaces/{workspace}/context/preview",
    "json",
    true
  ],
  "putAccess": [
    "PUT",
    "/v1/workspaces/{workspace}/access",
    "json",
    true
  ],
  "putUser": [
    "PUT",
    "/v1/workspaces/{workspace}/users/{user}",
    "json",
    true
  ],
  "readDocument": [
    "GET",
    "/v1/workspaces/{workspace}/read",
    "json",
    false
  ],
  "readJob": [
    "GET",
    "/v1/workspaces/{workspace}/jobs/{job}",
    "json",
    false
  ],
  "readMemory": [
    "GET",
    "/v1/workspaces/{workspace}/memories/{memory}",
    "json",
    false
  ],
  "readMetrics": [
    "GET",
    "/metrics",
    "text",
    false
  ],
  "readNode": [
    "GET",
    "/v1/workspaces/{workspace}/nodes/{node}",
    "json",
    false
  ],
  "readOverview": [
    "GET",
    "/v1/workspaces/{workspace}/inspect/overview",
    "json",
    false
  ],
  "readPageImage": [
    "GET",
    "/v1/workspaces/{workspace}/page-image",
    "blob",
    false
  ],
  "readPageThumbnail": [
    "GET",
    "/v1/workspaces/{workspace}/page-thumbnail",
    "blob",
    false
  ],
  "readSource": [
    "POST",
    "/v1/workspaces/{workspace}/sources/{source}/read",
    "json",
    false
  ],
  "recordActivity": [
    "POST",
    "/v1/workspaces/{workspace}/activity",
    "json",
    true
  ],
  "recordBeacon": [
    "POST",
    "/v1/workspaces/{workspace}/activity/beacon",
    "json",
    false
  ],
  "remember": [
    "POST",
    "/v1/workspaces/{workspace}/memories",
    "json",
    true
  ],
  "rememberConversation": [
    "POST",
    "/v1/workspaces/{workspace}/memories-add",
    "json",
    true
  ],
  "removeEdges": [
    "POST",
    "/v1/workspaces/{workspace}/edges-remove",
    "json",
    true
  ],
  "removeNode": [
    "DELETE",
    "/v1/workspaces/{workspace}/nodes/{node}",
    "json",
    false
  ],
  "removeNodes": [
    "POST",
    "/v1/workspaces/{workspace}/nodes-remove",
    "json",
    true
  ],
  "removeReferences": [
    "POST",
    "/v1/workspaces/{workspace}/references-remove",
    "json",
    true
  ],
  "removeSource": [
    "DELETE",
    "/v1/workspaces/{workspace}/sources/{source}",
    "json",
    false
  ],
  "removeThread": [
    "DELETE",
    "/v1/workspaces/{workspace}/threads/{thread}",
    "json",
    false
  ],
  "renameThread": [
    "PUT",
    "/v1/workspaces/{workspace}/threads/{thread}",
    "json",
    true
  ],
  "replayReceipt": [
    "POST",
    "/v1/workspaces/{workspace}/receipts/{receipt}/replay",
    "json",
    false
  ],
  "searchMemories": [
    "POST",
    "/v1/workspaces/{workspace}/memories-search",
    "json",
    true
  ],
  "searchPassages": [
    "POST",
    "/v1/workspaces/{workspace}/search",
    "json",
    true
  ],
  "showReceipt": [
    "GET",
    "/v1/workspaces/{workspace}/receipts/{receipt}",
    "json",
    false
  ],
  "startThread": [
    "POST",
    "/v1/workspaces/{workspace}/threads",
    "json",
    true
  ],
  "streamAnswer": [
    "POST",
    "/v1/workspaces/{workspace}/ask/stream",
    "events",
    true
  ],
  "takeTurn": [
    "POST",
    "/v1/workspaces/{workspace}/turns",
    "json",
    true
  ],
  "uploadDocument": [
    "POST",
    "/v1/workspaces/{workspace}/documents",
    "json",
    true
  ],
  "validateWorkspaceContext": [
    "POST",
    "/v1/workspaces/{workspace}/context/workspace/validate",
    "json",
    true
  ],
  "writeEdges": [
    "POST",
    "/v1/workspaces/{workspace}/edges",
    "json",
    true
  ],
  "writeNodes": [
    "POST",
    "/v1/workspaces/{workspace}/nodes",
    "json",
    true
  ]
};
