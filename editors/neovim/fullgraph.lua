-- fullgraph in Neovim 0.7 or newer. Copy this file to ~/.config/nvim/plugin/.
--
-- Diagnostics come as you type; vim.lsp.buf.code_action() fixes, vim.lsp.codelens.run() proves.
-- :FullgraphFixAll fixes what is safe in the buffer, :FullgraphUndo takes the last fix back.
-- :FullgraphExplain opens the page about the finding on the line.
--
-- One server serves every buffer: it finds the project of each file by itself.

local config = {
  name = "fullgraph",
  cmd = { "fullgraph", "lsp" },
  filetypes = { "python" },
  root_markers = { "pyproject.toml", ".fullgraph", "setup.py", "setup.cfg", ".git" },
  settings = { fullgraph = vim.empty_dict() },
  reuse_client = function(client, wanted)
    return client.name == wanted.name
  end,
}

local function find_root(file)
  local folder = vim.fn.fnamemodify(file, ":p:h")
  while true do
    for _, marker in ipairs(config.root_markers) do
      if vim.loop.fs_stat(folder .. "/" .. marker) then
        return folder
      end
    end
    local above = vim.fn.fnamemodify(folder, ":h")
    if above == folder then
      return vim.fn.fnamemodify(file, ":p:h")
    end
    folder = above
  end
end

local running

local function attach(buffer, file)
  if not running or vim.lsp.client_is_stopped(running) then
    running = vim.lsp.start_client(vim.tbl_extend("force", config, { root_dir = find_root(file) }))
  end
  if running then
    vim.lsp.buf_attach_client(buffer, running)
  end
end

if vim.fn.executable(config.cmd[1]) == 0 then
  vim.notify("fullgraph: the command is not on PATH; install it with pipx or uv tool", vim.log.levels.WARN)
elseif vim.lsp.config then -- Neovim 0.11
  vim.lsp.config("fullgraph", config)
  vim.lsp.enable("fullgraph")
else
  vim.api.nvim_create_autocmd("FileType", {
    pattern = config.filetypes,
    callback = function(event)
      if event.file ~= "" and vim.bo[event.buf].buftype == "" then
        attach(event.buf, event.file)
      end
    end,
  })
end

local function client_of(buffer)
  local found = vim.lsp.get_clients and vim.lsp.get_clients({ bufnr = buffer }) or vim.lsp.buf_get_clients(buffer)
  for _, client in pairs(found) do
    if client.name == "fullgraph" then
      return client
    end
  end
  vim.notify("fullgraph does not serve this buffer", vim.log.levels.WARN)
end

local function request(client, method, params, done)
  local function handler(failure, result)
    if failure then
      vim.notify("fullgraph: " .. failure.message, vim.log.levels.ERROR)
    elseif result and result ~= vim.NIL then
      done(result)
    end
  end
  if vim.fn.has("nvim-0.11") == 1 then
    client:request(method, params, handler)
  else
    client.request(method, params, handler)
  end
end

vim.api.nvim_create_user_command("FullgraphFixAll", function()
  local buffer = vim.api.nvim_get_current_buf()
  local client = client_of(buffer)
  if not client then
    return
  end
  local start = { line = 0, character = 0 }
  local params = {
    textDocument = vim.lsp.util.make_text_document_params(buffer),
    range = { start = start, ["end"] = start },
    context = { diagnostics = {}, only = { "source.fixAll.fullgraph" } },
  }
  request(client, "textDocument/codeAction", params, function(actions)
    if not actions[1] then
      vim.notify("fullgraph: nothing here that is safe to fix")
      return
    end
    request(client, "codeAction/resolve", actions[1], function(action)
      if action.edit then
        vim.lsp.util.apply_workspace_edit(action.edit, client.offset_encoding)
        request(client, "workspace/executeCommand", action.command, function() end)
      end
    end)
  end)
end, {})

vim.api.nvim_create_user_command("FullgraphUndo", function()
  local buffer = vim.api.nvim_get_current_buf()
  local client = client_of(buffer)
  if client then
    local uri = vim.uri_from_bufnr(buffer)
    request(client, "workspace/executeCommand", { command = "fullgraph.undo", arguments = { { uri = uri } } }, function() end)
  end
end, {})

vim.api.nvim_create_user_command("FullgraphExplain", function()
  local line = vim.api.nvim_win_get_cursor(0)[1] - 1
  for _, one in ipairs(vim.diagnostic.get(0, { lnum = line })) do
    local told = one.user_data and one.user_data.lsp or {}
    if one.source == "fullgraph" and told.codeDescription then
      vim.cmd("split " .. vim.fn.fnameescape(vim.uri_to_fname(told.codeDescription.href)))
      return
    end
  end
  vim.notify("fullgraph: no finding on this line has a page")
end, {})
