-- Drives a headless Neovim with editors/neovim/fullgraph.lua. What it sees goes to a JSON file, step by step.
-- vim.g.steps: the names of the steps below, in order. vim.g.seen: the file.

local seen = {}
local PATIENCE = 30000

local function wait_for(what, check)
  local found
  local done = vim.wait(PATIENCE, function()
    found = check()
    return found
  end, 50)
  if not done then
    error("waited in vain for " .. what)
  end
  return found
end

local function diagnostics(count)
  return wait_for(count .. " diagnostics", function()
    local found = vim.diagnostic.get(0)
    return #found == count and found
  end)
end

local function text()
  return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, true), "\n") .. "\n"
end

local steps = {}

function steps.two_findings()
  for _, one in ipairs(diagnostics(2)) do
    table.insert(seen, { line = one.lnum, column = one.col, source = one.source, message = one.message, code = one.code })
  end
end

function steps.fix_the_second()
  local second = diagnostics(2)[2]
  vim.api.nvim_win_set_cursor(0, { second.lnum + 1, second.col })
  local before = text()
  vim.ui.select = function(items, _, choose)
    for _, item in ipairs(items) do
      local action = item.action or item[2]
      if action.kind == "quickfix" then
        return choose(item)
      end
    end
  end
  vim.lsp.buf.code_action()
  wait_for("the fix", function() return text() ~= before end)
  diagnostics(1)
  table.insert(seen, text())
end

function steps.fix_all()
  local before = text()
  vim.cmd("FullgraphFixAll")
  wait_for("the fixes", function() return text() ~= before end)
  diagnostics(0)
  table.insert(seen, text())
end

function steps.undo()
  local before = text()
  vim.cmd("FullgraphUndo")
  wait_for("the undo", function() return text() ~= before end)
  table.insert(seen, text())
end

function steps.type_a_line_above()
  vim.api.nvim_buf_set_lines(0, 0, 0, true, { "# 🔥 not saved" })
  local found = wait_for("the findings to move", function()
    local now = vim.diagnostic.get(0)
    return #now == 2 and now[1].lnum == 4 and now
  end)
  table.insert(seen, { found[1].lnum, found[2].lnum })
end

function steps.count_servers()
  local processes = 0
  for _, client in pairs(vim.lsp.get_active_clients()) do
    processes = processes + (client.name == "fullgraph" and 1 or 0)
  end
  table.insert(seen, processes)
end

function steps.open_the_others()
  for _, file in ipairs({ "pkg/b.py", "pkg/c.py", "../other/d.py", "../other/e.py" }) do
    vim.cmd("edit " .. file)
    diagnostics(2)
  end
end

function steps.explain()
  vim.api.nvim_win_set_cursor(0, { diagnostics(2)[2].lnum + 1, 0 })
  vim.cmd("FullgraphExplain")
  table.insert(seen, vim.fn.expand("%:t"))
  table.insert(seen, vim.fn.getline(3))
end

function steps.write()
  vim.cmd("silent write")
end

local done, failure = pcall(function()
  for _, name in ipairs(vim.g.steps) do
    steps[name]()
  end
end)
vim.fn.writefile({ vim.fn.json_encode({ seen = seen, failure = done and "" or tostring(failure) }) }, vim.g.seen)
vim.cmd("qall!")
